interface Value {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly value: string
}

/** Values of a "Try it" form. Empty fields are not sent. */
export interface FormValues {
  readonly method: string
  /** Path template from the document: `/agents/{agentId}/run`. */
  readonly path: string
  readonly values: readonly Value[]
  readonly body?: string | undefined
  readonly accept?: string | undefined
}

export interface PreparedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** Builds the request of a form. @throws Error that names an empty required field */
export function requestOf({ method, path, values, body, accept }: FormValues, base: string): PreparedRequest {
  const missing = values.find(({ required, value }) => required === true && value === '')
  if (missing !== undefined) throw new Error(`${missing.name} is required`)
  const given = values.filter(({ value }) => value !== '')
  const expandedPath = path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(given.find((value) => value.in === 'path' && value.name === name)?.value ?? ''),
  )
  const sentAs = (location: Value['in']) =>
    Object.fromEntries(given.filter((value) => value.in === location).map(({ name, value }) => [name, value]))
  const query = new URLSearchParams(sentAs('query'))
  const headers = {
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(accept === undefined ? {} : { Accept: accept }),
    ...sentAs('header'),
  }
  const search = query.size === 0 ? '' : `?${query}`
  return { method, url: `${base}${expandedPath}${search}`, headers, ...(body === undefined ? {} : { body }) }
}

/** Formats the request as a curl command, without the token. */
export function curlOf({ method, url, headers, body }: PreparedRequest, hasToken: boolean): string {
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
