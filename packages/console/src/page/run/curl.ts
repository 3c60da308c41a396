import { API_URL } from '../api/connection.ts'
import { type Run, targetOf } from '../api/resources.ts'

/** A text as one argument of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A command that starts the same run again. The token stays a variable: the page does not know it. */
export function curlOf(run: Partial<Pick<Run, 'agentId' | 'workflowId'>> & { readonly input: unknown }): string {
  const { kind, id } = targetOf(run)
  const path = kind === 'agent' ? `agents/${encodeURIComponent(id)}/run` : `workflows/${encodeURIComponent(id)}/execute`
  return [
    `curl -X POST ${quoted(`${API_URL}/${path}`)}`,
    `-H "Authorization: Bearer $PERDURE_TOKEN"`,
    `-H 'Content-Type: application/json'`,
    `-d ${quoted(JSON.stringify({ input: run.input }))}`,
  ].join(' \\\n  ')
}
