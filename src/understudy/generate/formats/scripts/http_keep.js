const headers = JSON.stringify(response.headers);
const parameter = /[?&]__MEMBER__=([^&#"]*)/.exec(headers);
const value = parameter ? decodeURIComponent(parameter[1]) : response.body.__MEMBER__;
client.global.set("__VARIABLE__", value);
client.global.set("__VARIABLE___ENCODED", encodeURIComponent(value));
