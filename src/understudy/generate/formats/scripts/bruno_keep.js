const parameter = /[?&]__MEMBER__=([^&#]*)/.exec(res.getHeader("location") || "");
const value = parameter ? decodeURIComponent(parameter[1]) : res.body.__MEMBER__;
bru.setVar("__VARIABLE__", value);
