/** A click on the map looks there and keeps the map (src/hydration/start.ts). */
export const _navigates = true;
