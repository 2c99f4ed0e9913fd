"""The record of a request and its response, and its codecs: multipart, masking, curl, HAR."""
