import type { RequestHead } from './request-head.ts'

/** Whether the origin is this server. Schemes are not compared, because a proxy may terminate TLS. */
export const isSameOrigin = (origin: string, host: string): boolean =>
  origin.toLowerCase().replace(/^https?:\/\//, '') === host.toLowerCase()

const OWN_SITE_VALUES = new Set(['same-origin', 'none'])

/** Whether Sec-Fetch-Site names this origin or no page. True for clients that do not send it. */
export const isFromOwnSite = ({ header }: RequestHead): boolean =>
  OWN_SITE_VALUES.has(header('sec-fetch-site') ?? 'none')
