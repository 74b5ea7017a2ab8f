/** Going back is caught by an entry of its own in the history (src/hydration/start.ts). */
export const _navigates = true;
