// The sentences of the portal, one function each, compiled by Paraglide from messages/AREA/LOCALE.json.
export * from './generated/messages.js';
