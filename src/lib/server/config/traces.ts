import { z } from 'zod';
import { httpUrl } from './fields.ts';
import type { Setting } from './setting.ts';

export const TRACES_SETTINGS = {
	OTEL_EXPORTER_OTLP_ENDPOINT: {
		schema: httpUrl.optional(),
		description:
			'Address of an OpenTelemetry collector for traces, for example `http://127.0.0.1:4318`. They are sent as JSON, and off without it.'
	},
	OTEL_EXPORTER_OTLP_HEADERS: {
		schema: z
			.string()
			.regex(/^[\w-]+=[^,=\s]+(,[\w-]+=[^,=\s]+)*$/, 'Use "name=value,name=value", percent-encoded.')
			.transform((text) => new URLSearchParams(text.replaceAll('+', '%2B').replaceAll(',', '&')))
			.optional(),
		description: 'Headers for it, such as a key: `name=value,name=value`, with values percent-encoded.'
	},
	OTEL_SERVICE_NAME: {
		schema: z.string().min(1),
		default: 'airtill',
		description: 'Name of this installation in traces.'
	}
} as const satisfies Record<string, Setting>;
