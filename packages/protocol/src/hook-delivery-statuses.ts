/** How the server has handled a delivery. */
export const HOOK_DELIVERY_STATUSES = ['accepted', 'ignored', 'dead'] as const
