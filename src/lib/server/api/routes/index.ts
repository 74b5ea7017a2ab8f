import { owner } from './owner.ts';
import { payments } from './payments.ts';
import { routers } from './routers.ts';
import { sessions } from './sessions.ts';
import { webhooks } from './webhooks.ts';

export const ENDPOINTS = [...routers, ...sessions, ...payments, ...owner, ...webhooks];

export const ROUTES = ENDPOINTS.map(({ route }) => route);
