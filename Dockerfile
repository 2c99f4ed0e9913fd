# understudy in a container. The last stage is the default, and serves only:
#   docker build --tag understudy .
#   docker build --tag understudy:verify --target verify .
# Each image has its software bill of materials (CycloneDX) at /opt/understudy/sbom.json.
FROM python:3.13-slim AS build
WORKDIR /build
RUN python -m venv /opt/understudy && python -m venv /opt/sbom
RUN /opt/sbom/bin/pip install --no-cache-dir cyclonedx-bom==7.5.0
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src/understudy src/understudy
COPY openapi openapi
COPY fixtures fixtures
RUN /opt/understudy/bin/pip install --no-cache-dir --constraint constraints.txt .
RUN /opt/sbom/bin/cyclonedx-py environment --output-file /opt/understudy/sbom.json /opt/understudy/bin/python

FROM build AS build-verify
RUN /opt/understudy/bin/pip install --no-cache-dir --constraint constraints.txt '.[all]'
RUN /opt/sbom/bin/cyclonedx-py environment --output-file /opt/understudy/sbom.json /opt/understudy/bin/python

FROM python:3.13-slim AS run
RUN useradd --uid 10001 --create-home understudy
ENV PATH=/opt/understudy/bin:/usr/local/bin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
WORKDIR /home/understudy
USER 10001

FROM run AS verify
COPY --from=build-verify /opt/understudy /opt/understudy
ENTRYPOINT ["understudy"]
CMD ["verify"]

FROM run AS serve
COPY --from=build /opt/understudy /opt/understudy
EXPOSE 8080 8081
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/__admin/health')"]
ENTRYPOINT ["understudy"]
CMD ["serve", "--host", "0.0.0.0"]
