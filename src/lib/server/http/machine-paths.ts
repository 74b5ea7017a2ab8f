/** Programs call these paths. They authenticate themselves and send no Origin. */
export const isApiPath = (path: string) => /^\/+(?:v|%76)(?:1|%31)(?:\/|$)/.test(path);
export const isCallPath = (path: string) => /^\/(callbacks|opennds|radius)\//.test(path);
/**
 * Gateways send browsers to these addresses and set their parameters, including `lang`.
 * A router's login page posts a form here, which only creates a captive session.
 */
export const isGatewayEntry = (path: string) =>
	/^\/splash\/[\w-]+$/.test(path) || /^\/guest\/s\/[\w-]+\/?$/.test(path);
