/** The settings as entered; null for omitted fields. */
export const NO_SETTINGS = {
	loginHosts: [] as readonly string[],
	/** null: generate one if the kind needs it. */
	secret: null as string | null,
	level: null as string | null,
	site: null as string | null,
	accessPoints: [] as readonly string[],
	externalAccess: false,
	control: null as string | null,
	/** RADIUS: `ADDRESS[:PORT]` of the gateway. */
	nas: null as string | null,
	api: null as string | null,
	apiUser: null as string | null,
	apiKey: null as string | null,
	apiCertificate: null as string | null,
	apiInsecure: false,
	/** An owner gives the address. */
	publicApi: false,
	/** null: generate one. */
	radiusSecret: null as string | null
};

export type GatewayInput = typeof NO_SETTINGS & { name: string; routerId: number; kind: string };

/** New settings of a registered gateway; null deletes one. Omitted members keep their value. */
export type GatewayChange = Partial<Omit<GatewayInput, 'name' | 'kind' | 'secret' | 'radiusSecret'>>;
