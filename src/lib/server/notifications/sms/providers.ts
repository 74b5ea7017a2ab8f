import type { HttpClient } from '#lib/server/platform/http-client.ts';
import { africasTalking } from './africas-talking.ts';
import { httpProvider } from './http-provider.ts';
import type { SmsConfig, SmsProvider } from './provider.ts';

export const createProvider = ({ provider }: SmsConfig, http: HttpClient): SmsProvider =>
	provider.kind === 'africastalking' ? africasTalking(provider, http) : httpProvider(provider, http);
