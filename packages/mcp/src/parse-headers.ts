const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Parses a JSON object of strings or one `Name: value` line. @throws Error that does not contain the secret */
export function parseHeaders(secret: string): Readonly<Record<string, string>> {
  const entries = secret.trimStart().startsWith('{') ? jsonEntries(secret) : lineEntries(secret)
  const areHeaders =
    entries !== undefined && entries.length > 0 && entries.every(([name, value]) => NAME.test(name) && isValue(value))
  if (areHeaders) return Object.fromEntries(entries as [string, string][])
  throw new Error('the secret of headersRef must be a JSON object of headers or one line "Name: value"')
}

const isValue = (value: unknown): boolean => typeof value === 'string' && VALUE.test(value)

function jsonEntries(secret: string): [string, unknown][] | undefined {
  try {
    return Object.entries(JSON.parse(secret) as object)
  } catch {
    return undefined
  }
}

function lineEntries(secret: string): [string, unknown][] | undefined {
  const match = /^([^:\s]+):(.*)$/.exec(secret)
  return match === null ? undefined : [[match[1] as string, match[2]?.trim()]]
}
