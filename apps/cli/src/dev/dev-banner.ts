import { relative } from 'node:path'
import { shellWord } from '../doctor/shell-word.ts'
import type { Paint } from '../output/paint.ts'
import { consoleUrl, consoleUrlWith } from '../server-access/console-link.ts'
import type { ServedFacts, Tryable } from './dev-messages.ts'

export interface DevBanner
  extends Pick<
    ServedFacts,
    | 'storagePath'
    | 'pepperPath'
    | 'agentIds'
    | 'workflowIds'
    | 'triggerIds'
    | 'hookIds'
    | 'tryable'
    | 'outboundUrls'
    | 'hasDocs'
    | 'hasConsole'
    | 'consoleCode'
  > {
  readonly version: string
  readonly url: string
  readonly cwd: string
  /** `undefined` with `auth.kind: 'none'`. */
  readonly token: BannerToken | undefined
  /** How the user calls this command line in another terminal. */
  readonly command: string
  /** Files whose change restarts the server; `undefined` without watching. */
  readonly watched: string | undefined
  /** Help on the keys; `undefined` without a terminal. */
  readonly keys: string | undefined
  readonly paint: Paint
}

export interface BannerToken {
  /** `undefined` unless stdout is a terminal: other outputs, such as the log of a CI job, are stored and shared. */
  readonly value: string | undefined
  /** The file that holds the token. */
  readonly file: string
}

/** The text `perdure dev` prints once it listens, ending with commands to paste into another terminal. */
export function devBanner(banner: DevBanner): string {
  const { version, url, cwd, storagePath, pepperPath, token, watched, keys, paint } = banner
  const rows = [
    ['API', url],
    ['Console', banner.hasConsole ? consoleText(banner) : undefined],
    ['Docs', banner.hasDocs ? `${url}/docs` : undefined],
    ['Token', tokenText(cwd, token)],
    ['Pepper', pepperPath && `${shortPath(cwd, pepperPath)}  (generated once, for development only)`],
    ['Storage', `${shortPath(cwd, storagePath)}  (kept between restarts; its folder holds everything Perdure stores)`],
    ['Agents', `${listText(banner.agentIds)}Triggers   ${banner.triggerIds.join(', ') || 'none'}`],
    ['Workflows', banner.workflowIds.join(', ')],
    ['Hooks', banner.hookIds.map((id) => `${id} at ${url}/hooks/${id}`).join(', ')],
    ['Outbound', `${(banner.outboundUrls.join(', ') || 'none').padEnd(14)}  Telemetry  none`],
  ].flatMap(([name = '', value]) => (value ? [`  ${paint('dim', name.padEnd(11))}${value}`] : []))
  const hints = [watched === undefined ? [] : [`watching ${watched}`], keys ?? []].flat()
  return [
    `listening on ${url}`,
    '',
    `  ${paint('bold', `perdure ${version}`)}   dev mode, not for production`,
    '',
    ...rows,
    '',
    '  Try it in a second terminal, in this folder (Ctrl-C here stops the server):',
    '',
    ...commandLines(banner),
    '',
    '  Or call the API:',
    '',
    ...curlLines(banner),
    '',
    ...(hints.length === 0 ? [] : [`  ${hints.join('   ·   ')}`, '']),
  ].join('\n')
}

/** The code is a credential, so it is shown only where the token is. */
function consoleText({ url, token, consoleCode, command, keys }: DevBanner): string {
  if (token === undefined) return consoleUrl(url)
  if (token.value === undefined || consoleCode === undefined) return `${consoleUrl(url)}  (sign in: ${command} console)`
  const key = keys === undefined ? '' : '; press o to open'
  return `${consoleUrlWith(url, consoleCode)}  (works once, for 5 minutes${key})`
}

function tokenText(cwd: string, token: BannerToken | undefined): string {
  if (token === undefined) return 'none needed (auth.kind none)'
  if (token.value !== undefined) return `${token.value}  (shown once; expires in 24 h)`
  return `in ${shortPath(cwd, token.file)}  (not printed, because stdout is not a terminal; expires in 24 h)`
}

const listText = (ids: readonly string[]): string => {
  const text = ids.join(', ') || 'none'
  return text.length < 14 ? text.padEnd(16) : `${text}   `
}

const UNKNOWN_INPUT = '<JSON that the input schema accepts>'

const inputWord = (input: unknown): string => shellWord(input === undefined ? UNKNOWN_INPUT : JSON.stringify(input))

function commandLines({ command, tryable }: DevBanner): readonly string[] {
  const lines = tryable.map(({ kind, id, input }) =>
    kind === 'agent'
      ? `${command} agents run ${id} --input ${inputWord(input)}`
      : `${command} workflows run ${id} --input ${inputWord(input)} --wait 10s`,
  )
  return [...lines, `${command} runs list`]
}

/** The token is in a variable, so that no line is too long to read, and the same lines work without a terminal. */
function curlLines({ url, token, tryable, cwd }: DevBanner): readonly string[] {
  const first = tryable[0]
  const auth = token === undefined ? '' : ` -H "Authorization: Bearer $PERDURE_TOKEN"`
  const list = `curl -sw '\\n' '${url}/runs?limit=5'${auth}`
  return [
    ...(token === undefined ? [] : [`export PERDURE_TOKEN=${token.value ?? `$(${readToken(cwd, token.file)})`}`]),
    ...(first === undefined ? [] : runLines(url, auth, first)),
    list,
  ]
}

function runLines(url: string, auth: string, { kind, id, input }: Tryable): readonly string[] {
  const path = kind === 'agent' ? `agents/${id}/run` : `workflows/${id}/execute`
  const body = input === undefined ? `{"input":${UNKNOWN_INPUT}}` : JSON.stringify({ input })
  return [`curl -sw '\\n' ${url}/${path}${auth} \\`, `  -H 'Content-Type: application/json' -d ${shellWord(body)}`]
}

/** A command that prints the token in the session file. */
const readToken = (cwd: string, file: string): string =>
  `node -p ${shellWord(`require(${JSON.stringify(`./${relative(cwd, file)}`)}).token`)}`

/** Relative for paths below the working directory. */
function shortPath(cwd: string, path: string): string {
  const near = relative(cwd, path)
  return near.startsWith('..') ? path : `./${near}`
}
