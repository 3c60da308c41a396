import { relative } from 'node:path'
import type { ServedFacts } from './dev-messages.ts'

export interface DevBanner
  extends Pick<ServedFacts, 'storagePath' | 'pepperPath' | 'agentIds' | 'workflowIds' | 'triggerIds' | 'hasDocs'> {
  readonly version: string
  readonly url: string
  readonly cwd: string
  /** `undefined` with `auth.kind: 'none'`. */
  readonly token: string | undefined
  /** A text file below the working directory, for the digest example. */
  readonly exampleFile: string | undefined
  /** Files whose change restarts the server; `undefined` without watching. */
  readonly watched: string | undefined
  /** Help on the keys; `undefined` without a terminal. */
  readonly keys: string | undefined
}

const EXAMPLE_TEXT =
  'Perdure keeps every run in a log. The log survives a crash. A client that lost its connection resumes where it stopped.'

/** The text `perdure dev` prints once it listens, ending with three curl commands to paste into a shell. */
export function devBanner(banner: DevBanner): string {
  const { version, url, cwd, storagePath, pepperPath, token, watched, keys } = banner
  const rows = [
    ['API', url],
    ['Docs', banner.hasDocs ? `${url}/docs` : undefined],
    ['Token', token === undefined ? 'none needed (auth.kind none)' : `${token}  (shown once; expires in 24 h)`],
    ['Pepper', pepperPath && `${shortPath(cwd, pepperPath)}  (generated once, for development only)`],
    ['Storage', `${shortPath(cwd, storagePath)}  (kept between restarts)`],
    ['Agents', `${listText(banner.agentIds)}Triggers   ${banner.triggerIds.join(', ') || 'none'}`],
    ['Workflows', banner.workflowIds.join(', ')],
    ['Outbound', `${'none'.padEnd(16)}Telemetry  none`],
  ].flatMap(([name = '', value]) => (value ? [`  ${name.padEnd(11)}${value}`] : []))
  const hints = [watched === undefined ? [] : [`watching ${watched}`], keys ?? []].flat()
  return [
    `listening on ${url}`,
    '',
    `  perdure ${version}   dev mode, not for production`,
    '',
    ...rows,
    '',
    '  Try it (Ctrl-C stops the server):',
    '',
    ...curlLines(banner),
    '',
    ...(hints.length === 0 ? [] : [`  ${hints.join('   ·   ')}`, '']),
  ].join('\n')
}

const listText = (ids: readonly string[]): string => {
  const text = ids.join(', ') || 'none'
  return text.length < 14 ? text.padEnd(16) : `${text}   `
}

function curlLines({ url, token, agentIds, exampleFile }: DevBanner): readonly string[] {
  const auth = token === undefined ? '' : ` -H 'Authorization: Bearer ${token}'`
  const post = `${auth} -H 'Content-Type: application/json'`
  const runs = agentIds.includes('echo') ? 'echo' : agentIds[0]
  const streams = agentIds.includes('digest') ? 'digest' : runs
  const source = exampleFile === undefined ? { text: EXAMPLE_TEXT } : { file: exampleFile }
  const body = (input: unknown) => `-d '${JSON.stringify({ input })}'`
  return [
    `curl -sw '\\n' ${url}/agents/${runs}/run${post} ${body({ text: 'hello from perdure' })}`,
    `curl -sNw '\\n' ${url}/agents/${streams}/stream${post} -H 'Accept: text/event-stream' ${body(streams === 'digest' ? source : { text: 'hello stream' })}`,
    `curl -sw '\\n' '${url}/runs?limit=5'${auth}`,
  ]
}

/** Relative for paths below the working directory. */
function shortPath(cwd: string, path: string): string {
  const near = relative(cwd, path)
  return near.startsWith('..') ? path : `./${near}`
}
