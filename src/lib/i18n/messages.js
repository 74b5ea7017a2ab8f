// Every sentence that a buyer or an owner reads, as a function: `m.purchase_waiting({ money })`. It speaks the language
// of the running request; in a browser, that of the page (src/language/plugin.ts puts another module in this place).
export * from './generated/messages/_index.js';
