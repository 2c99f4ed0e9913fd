const parameter = /[?&]__NAME__=([^&#]*)/.exec(pm.response.headers.get('Location') || '');
const value = parameter ? decodeURIComponent(parameter[1])
  : pm.response.json()[__MEMBER__];
pm.collectionVariables.set(__VARIABLE__, value);
pm.environment.set(__VARIABLE__, value);
