import type { RequestHead } from './request-head.ts'

/** Whether the origin is this server's. Schemes are not compared, because a proxy may terminate TLS. */
export const isSameOrigin = (origin: string, host: string): boolean =>
  origin.toLowerCase().replace(/^https?:\/\//, '') === host.toLowerCase()

const OWN_SITE_VALUES = new Set(['same-origin', 'none'])

/**
 * Whether Sec-Fetch-Site says that the request comes from this origin or directly from the user (`none`). True if the
 * header is missing.
 */
export const isFromOwnSite = ({ header }: RequestHead): boolean =>
  OWN_SITE_VALUES.has(header('sec-fetch-site') ?? 'none')
