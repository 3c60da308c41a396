import { EVENT_STREAMS } from './protocol-tables.ts'

const STREAMS = Object.entries(EVENT_STREAMS).map(([pattern, path]) => ({
  regex: new RegExp(`^${pattern.replace(/\{(\w+)\}/g, '(?<$1>[A-Za-z0-9_-]+)')}$`),
  path,
}))

/** Path of the subject's Server-Sent Events stream; `undefined` if it has none. */
export function eventStreamPath(subject: string): string | undefined {
  for (const { regex, path } of STREAMS) {
    const ids = regex.exec(subject)?.groups
    if (ids !== undefined) return path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? '')
  }
  return undefined
}
