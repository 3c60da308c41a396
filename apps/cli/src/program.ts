import { resolve } from 'node:path'
import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import type { Call } from './call.ts'
import type { CommandContext } from './command-context.ts'
import type { CommandLine } from './command-line.ts'
import { type ClosableCall, createCall, type SharedFlags } from './create-call.ts'
import type { CommandSpec, FlagSpec } from './manifest/command-spec.ts'
import { COMMAND_GROUPS, COMMANDS } from './manifest/commands.ts'
import { completionScript } from './manifest/completion.ts'
import { flagsOf } from './manifest/shared-flags.ts'
import { readSecretFlags } from './secret-flags.ts'
import { readVersion } from './version.ts'

export interface ProgramDeps {
  readonly context: CommandContext
  /** Called before the command runs. */
  readonly onCall: (call: ClosableCall) => void
  /** The commands to register. Default: all. */
  readonly commands?: readonly CommandSpec[]
}

/**
 * The commands whose path starts with the first word. Returns all commands if no path does, because help and
 * suggestions need them. Registering fewer commands is faster.
 */
export function commandsMatching([first]: readonly string[]): readonly CommandSpec[] {
  const matching = COMMANDS.filter(({ path }) => path.split(' ', 1)[0] === first)
  return matching.length > 0 ? matching : COMMANDS
}

/** Builds the command line from the manifest. */
export function createProgram(deps: ProgramDeps): Command {
  const { stdout, stderr } = deps.context.terminal
  const program = new Command('perdure')
    .description('A durable server for agents.')
    .version(readVersion(), '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      outputError: () => undefined,
      getOutHelpWidth: () => stdout.columns || 100,
      getErrHelpWidth: () => stderr.columns || 100,
    })
    .helpCommand(false)
    .addHelpText('after', '\nMore help: perdure help <command>, perdure help exit-codes|environment|formatting|config')
  for (const spec of deps.commands ?? COMMANDS) addCommand(program, spec, deps)
  return program
}

function addCommand(program: Command, spec: CommandSpec, { context, onCall }: ProgramDeps): void {
  const words = spec.path.split(' ')
  const command = parentOf(program, words.slice(0, -1)).command(words.at(-1) ?? '')
  command
    .description(spec.summary)
    .addHelpText('after', `\nExamples:\n${spec.examples.map((line) => `  ${line}`).join('\n')}`)
  for (const { name, note, optional, variadic } of spec.arguments ?? []) {
    const text = variadic ? `${name}...` : name
    command.addArgument(new Argument(optional ? `[${text}]` : `<${text}>`, note))
  }
  for (const flag of flagsOf(spec)) command.addOption(toOption(flag))
  command.addOption(new Option('--json-fields <names>').argParser(parseList).hideHelp())
  command.action(async () => {
    const given = command.opts()
    const near = contextIn(context, given.cwd)
    const { values: flags, terminal } = await readSecretFlags(near.terminal, flagsOf(spec), given)
    const { createClient } = spec.target === 'server' ? await import('@perdure/client') : {}
    const deps = { cli: commandLine(context), createClient }
    const call = createCall({ ...near, terminal }, flags as SharedFlags, deps)
    onCall(call)
    const values = { ...argumentsOf(spec, command.processedArgs), ...flags }
    await invoke(spec, call, await withWholeIds(spec, call, values))
  })
}

function commandLine(context: CommandContext): CommandLine {
  return {
    paths: COMMANDS.map(({ path }) => path),
    helpOf: (words) => helpOf(createProgram({ context, onCall: () => undefined }), words),
    schemaOf: (path) => COMMANDS.find((command) => command.path === path)?.schema,
    completion: (shell) => completionScript(shell, COMMANDS),
  }
}

function helpOf(program: Command, words: readonly string[]): string | undefined {
  const found = words.reduce<Command | undefined>(
    (parent, word) => parent?.commands.find((command) => command.name() === word),
    program,
  )
  let text = ''
  found?.configureOutput({
    writeOut(part) {
      text += part
    },
  })
  found?.outputHelp()
  return found === undefined ? undefined : text
}

/** Calls the handler. Only here do the parsed values lose their type; each handler declares the type it expects. */
async function invoke(spec: CommandSpec, call: Call, values: Readonly<Record<string, unknown>>): Promise<void> {
  const handler = await spec.load()
  await handler(call, values as never)
}

function parentOf(program: Command, words: readonly string[]): Command {
  return words.reduce((parent, word) => {
    const found = parent.commands.find((command) => command.name() === word)
    return found ?? parent.command(word).description(COMMAND_GROUPS[word]?.summary ?? '')
  }, program)
}

/** Commands that open the database themselves resolve ids there. */
async function withWholeIds(
  { arguments: specs = [], flags = [], target }: CommandSpec,
  call: Call,
  values: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const whole: Record<string, unknown> = { ...values }
  for (const { name, idOf } of [...specs, ...flags]) {
    const given = values[camelCase(name)]
    if (idOf === undefined || target !== 'server' || typeof given !== 'string') continue
    const { resolveId } = await import('./resolve-id.ts')
    whole[camelCase(name)] = await resolveId(call, idOf, given)
  }
  return whole
}

const argumentsOf = ({ arguments: specs = [] }: CommandSpec, given: readonly unknown[]) =>
  Object.fromEntries(specs.map(({ name }, at) => [camelCase(name), given[at]]))

const camelCase = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

function contextIn(context: CommandContext, dir: unknown): CommandContext {
  if (typeof dir !== 'string') return context
  return { ...context, terminal: { ...context.terminal, cwd: resolve(context.terminal.cwd, dir) } }
}

function toOption(flag: FlagSpec): Option {
  const { name, short, type, note, value, default: fallback, choices, range, required, bare } = flag
  const dashed = `${short === undefined ? '' : `-${short}, `}--${name}`
  const option = new Option(
    type === 'boolean' ? dashed : `${dashed} ${bare === undefined ? `<${value ?? name}>` : `[${value ?? name}]`}`,
    note,
  )
  if (bare !== undefined) option.preset(String(bare))
  if (type === 'integer') option.argParser((text) => parseInteger(text, range))
  if (type === 'list') option.argParser(parseList)
  if (type === 'pairs') option.argParser(addPair)
  if (choices !== undefined) option.choices(choices)
  if (fallback !== undefined) option.default(fallback)
  if (required) option.makeOptionMandatory()
  return option
}

function parseInteger(text: string, range: FlagSpec['range']): number {
  const [min, max] = range ?? [0, 999_999_999]
  const value = /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new InvalidArgumentError(`It must be a whole number${range === undefined ? '' : ` from ${min} to ${max}`}.`)
}

const parseList = (text: string): readonly string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

function addPair(text: string, earlier: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const equals = text.indexOf('=')
  if (equals < 1) throw new InvalidArgumentError('It must look like key=value.')
  return { ...earlier, [text.slice(0, equals)]: text.slice(equals + 1) }
}
