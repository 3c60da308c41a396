import type { RequestHead } from './request-head.ts'

/**
 * The value of a cookie. `undefined` also if several cookies have this name: then another host or path has set one of
 * them, and none can be trusted.
 */
export function cookieNamed({ header }: Pick<RequestHead, 'header'>, name: string): string | undefined {
  const start = `${name}=`
  const [cookie, ...others] = (header('cookie') ?? '').split(/;\s*/).filter((one) => one.startsWith(start))
  return others.length > 0 ? undefined : cookie?.slice(start.length)
}
