// The portal's texts, one function each. Paraglide compiles them from messages/AREA/LOCALE.json.
export * from './generated/messages.js';
