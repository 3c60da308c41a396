interface Value {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly value: string
}

/** What a form holds. Empty fields are not sent. */
export interface Filled {
  readonly method: string
  /** As in the document: `/agents/{agentId}/run`. */
  readonly path: string
  readonly values: readonly Value[]
  readonly body?: string | undefined
  readonly accept?: string | undefined
}

export interface Prepared {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** The request of a filled form. @throws Error that names the required field which is empty. */
export function requestOf({ method, path, values, body, accept }: Filled, base: string): Prepared {
  const missing = values.find(({ required, value }) => required === true && value === '')
  if (missing !== undefined) throw new Error(`${missing.name} is missing`)
  const given = values.filter(({ value }) => value !== '')
  const filled = path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(given.find((value) => value.in === 'path' && value.name === name)?.value ?? ''),
  )
  const sentAs = (place: Value['in']) =>
    Object.fromEntries(given.filter((value) => value.in === place).map(({ name, value }) => [name, value]))
  const query = new URLSearchParams(sentAs('query'))
  const headers = {
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(accept === undefined ? {} : { Accept: accept }),
    ...sentAs('header'),
  }
  const search = query.size === 0 ? '' : `?${query}`
  return { method, url: `${base}${filled}${search}`, headers, ...(body === undefined ? {} : { body }) }
}

/** The same request for a shell; the token stays out of it. */
export function curlOf({ method, url, headers, body }: Prepared, hasToken: boolean): string {
  const lines = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  if (hasToken) lines.unshift('-H "Authorization: Bearer $TOKEN"')
  if (headers.Accept === 'text/event-stream') lines.unshift('-N')
  return [
    `curl -i -X ${method} ${quoted(url)}`,
    ...lines,
    ...(body === undefined ? [] : [`-d ${quoted(onOneLine(body))}`]),
  ].join(' \\\n  ')
}

const onOneLine = (text: string): string => {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join(' ')
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
