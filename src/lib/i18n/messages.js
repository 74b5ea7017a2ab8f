// The portal's texts, one function each. Paraglide compiles them from messages/<language>.json; the first word of a name is its area.
export * from './generated/messages.js';
