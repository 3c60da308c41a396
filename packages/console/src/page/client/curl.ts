import { type Run, targetOf } from './resources.ts'

export interface ApiRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A text as one argument of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A command that sends the request. The token stays a variable: the page does not know it, or keeps it to itself. */
export const curlOf = ({ method, url, headers, body }: ApiRequest): string =>
  [
    `curl -X ${method} ${quoted(url)}`,
    ...(headers.Accept === 'text/event-stream' ? ['-N'] : []),
    `-H "Authorization: Bearer $PERDURE_TOKEN"`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
  ].join(' \\\n  ')

/** A command that starts the same run again. */
export function startCurlOf(
  run: Partial<Pick<Run, 'agentId' | 'workflowId'>> & { readonly input: unknown },
  apiUrl: string,
): string {
  const { kind, id } = targetOf(run)
  const path = kind === 'agent' ? `agents/${encodeURIComponent(id)}/run` : `workflows/${encodeURIComponent(id)}/execute`
  const headers = { 'Content-Type': 'application/json' }
  return curlOf({ method: 'POST', url: `${apiUrl}/${path}`, headers, body: JSON.stringify({ input: run.input }) })
}
