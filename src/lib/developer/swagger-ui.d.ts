declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
	/** Options: https://swagger.io/docs/open-source-tools/swagger-ui/usage/configuration/ */
	export default function SwaggerUI(options: Readonly<Record<string, unknown>>): {
		preauthorizeApiKey(scheme: string, key: string): unknown;
	};
}
