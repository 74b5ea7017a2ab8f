import * as s from './messages.js';

export { s };
