// The portal's texts, one function each. Paraglide compiles them from messages/<area>/<language>.json.
export * from './generated/messages.js';
