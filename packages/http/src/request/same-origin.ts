import type { RequestHead } from './request-head.ts'

/** Whether a page of this origin came from here. Behind a proxy that speaks TLS the scheme differs, the host does not. */
export const isSameOrigin = (origin: string, host: string): boolean =>
  origin.toLowerCase().replace(/^https?:\/\//, '') === host.toLowerCase()

const OWN_SITES = new Set(['same-origin', 'none'])

/** By what a browser says of the page that makes it ask; other clients say nothing. */
export const isFromOwnSite = ({ header }: RequestHead): boolean => OWN_SITES.has(header('sec-fetch-site') ?? 'none')
