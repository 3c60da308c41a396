/** Whether a page of this origin came from here. Behind a proxy that speaks TLS the scheme differs, the host does not. */
export const isSameOrigin = (origin: string, host: string): boolean =>
  origin.toLowerCase().replace(/^https?:\/\//, '') === host.toLowerCase()
