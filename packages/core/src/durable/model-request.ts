/**
 * What a model was asked, as hashes: enough to find the first place where another request differs, without its content.
 * The hashes are not cryptographic.
 */
export interface ModelRequest {
  readonly provider: string
  readonly model: string
  /** Hashes of the declarations of the tools, by name, in the order in which the model gets them. */
  readonly tools: readonly ToolPrint[]
  /** The hash of the other settings, such as the temperature. */
  readonly settings: string
  /** The number of messages of the prompt. */
  readonly messages: number
  /** The roles and hashes of the last messages, at most `MAX_PRINTED_MESSAGES`, as `user:1f0a…`. */
  readonly prompt: readonly string[]
}

export interface ToolPrint {
  readonly name: string
  /** The hash of the schema of the input. */
  readonly schema: string
  /** The hash of the rest of the declaration, such as the description. */
  readonly rest: string
}

const MAX_PRINTED_MESSAGES = 32

type Fields = Readonly<Record<string, unknown>>

interface AskedModel {
  readonly provider: string
  readonly modelId: string
}

/** Options that do not change what the model is asked. */
const IGNORED: ReadonlySet<string> = new Set(['prompt', 'tools', 'abortSignal', 'headers', 'includeRawChunks'])

/** Describes a call of a language model of the AI SDK. */
export function describeRequest({ provider, modelId }: AskedModel, options: object): ModelRequest {
  const call = options as Fields
  const prompt = listOf(call.prompt)
  const settings = Object.entries(call).filter(([name, value]) => !IGNORED.has(name) && value !== undefined)
  return {
    provider,
    model: modelId,
    tools: listOf(call.tools).map(printTool),
    settings: hashOf(Object.fromEntries(settings)),
    messages: prompt.length,
    prompt: prompt.slice(-MAX_PRINTED_MESSAGES).map((message) => `${fieldsOf(message).role}:${hashOf(message)}`),
  }
}

function printTool(tool: unknown): ToolPrint {
  const { name, inputSchema, ...rest } = fieldsOf(tool)
  return { name: String(name), schema: hashOf(inputSchema ?? null), rest: hashOf(rest) }
}

/** What differs between a recorded request and another one. */
export type RequestPart = 'model' | 'tool set' | 'tool order' | 'schema' | 'tool' | 'prompt' | 'settings'

export interface RequestDifference {
  readonly part: RequestPart
  /** Says what differs, such as `message 2 (user)`. */
  readonly detail: string
}

/** The first difference between two requests; `undefined` if they ask the same. */
export function requestDifference(recorded: ModelRequest, found: ModelRequest): RequestDifference | undefined {
  const nameOf = ({ provider, model }: ModelRequest) => `${provider}/${model}`
  if (nameOf(recorded) !== nameOf(found)) {
    return { part: 'model', detail: `${nameOf(found)} instead of ${nameOf(recorded)}` }
  }
  const differs = toolDifference(recorded.tools, found.tools) ?? promptDifference(recorded, found)
  if (differs !== undefined) return differs
  return recorded.settings === found.settings ? undefined : { part: 'settings', detail: 'the settings of the call' }
}

function toolDifference(recorded: readonly ToolPrint[], found: readonly ToolPrint[]): RequestDifference | undefined {
  const missing = recorded.find(({ name }) => !found.some((tool) => tool.name === name))
  if (missing !== undefined) return { part: 'tool set', detail: `the tool ${missing.name} is missing` }
  const added = found.find(({ name }) => !recorded.some((tool) => tool.name === name))
  if (added !== undefined) return { part: 'tool set', detail: `the tool ${added.name} is new` }
  for (const [index, tool] of recorded.entries()) {
    const other = found[index]
    if (other === undefined || other.name !== tool.name) {
      return { part: 'tool order', detail: `tool ${index + 1} is ${other?.name} instead of ${tool.name}` }
    }
    if (other.schema !== tool.schema) return { part: 'schema', detail: `the input schema of the tool ${tool.name}` }
    if (other.rest !== tool.rest) return { part: 'tool', detail: `the declaration of the tool ${tool.name}` }
  }
  return undefined
}

function promptDifference(recorded: ModelRequest, found: ModelRequest): RequestDifference | undefined {
  const first = (request: ModelRequest) => request.messages - request.prompt.length
  const from = Math.max(first(recorded), first(found))
  for (let index = from; index < Math.max(recorded.messages, found.messages); index++) {
    const before = recorded.prompt[index - first(recorded)]
    const now = found.prompt[index - first(found)]
    if (before === now) continue
    const role = roleOf(now ?? before)
    if (now === undefined) return { part: 'prompt', detail: `message ${index + 1} (${role}) is missing` }
    if (before === undefined) return { part: 'prompt', detail: `message ${index + 1} (${role}) is new` }
    return { part: 'prompt', detail: `message ${index + 1} (${role})` }
  }
  return undefined
}

const roleOf = (print: string | undefined): string => print?.split(':', 1)[0] ?? ''

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

/** Two multiplicative hashes of 32 bits (after cyrb53), printed as 14 hexadecimal digits. */
function hashOf(value: unknown): string {
  let one = 0xdeadbeef
  let two = 0x41c6ce57
  const add = (text: string): void => {
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index)
      one = Math.imul(one ^ unit, 2654435761)
      two = Math.imul(two ^ unit, 1597334677)
    }
  }
  addValue(value, add)
  const mixed = (main: number, other: number) =>
    Math.imul(main ^ (main >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909)
  const low = mixed(one, two) >>> 0
  const high = (mixed(two, one) >>> 0) & 0xffffff
  return high.toString(16).padStart(6, '0') + low.toString(16).padStart(8, '0')
}

const MAX_TEXT = 65_536

/** A long text, such as the data of a file, counts by its ends and its length. */
const shortened = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT / 2)}${text.length}${text.slice(-MAX_TEXT / 2)}`

/** Adds the value as JSON with sorted members. Members without a value are left out; of bytes only the length counts. */
function addValue(value: unknown, add: (text: string) => void): void {
  if (typeof value === 'string') add(JSON.stringify(shortened(value)))
  else if (typeof value !== 'object' || value === null) add(String(value))
  else if (ArrayBuffer.isView(value)) add(`bytes ${value.byteLength}`)
  else if (value instanceof URL || value instanceof Date) add(JSON.stringify(value))
  else if (Array.isArray(value)) {
    add('[')
    for (const one of value) {
      addValue(one, add)
      add(',')
    }
    add(']')
  } else {
    add('{')
    for (const name of Object.keys(value).sort()) {
      const member = (value as Fields)[name]
      if (member === undefined) continue
      add(`${JSON.stringify(name)}:`)
      addValue(member, add)
      add(',')
    }
    add('}')
  }
}
