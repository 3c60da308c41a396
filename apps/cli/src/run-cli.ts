import { CommanderError } from 'commander'
import type { ClosableCall } from './create-call.ts'
import { withDescriptorHint } from './descriptor-error.ts'
import { reportOf, reportText } from './error-report.ts'
import { exitCodeOf } from './exit-code-of.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { COMMAND_GROUPS, COMMANDS } from './manifest/commands.ts'
import { commandsMatching, createProgram } from './program.ts'
import { type Terminal, writeDocument } from './terminal.ts'

/** Runs a command line, given without the program name, and returns its exit code. Never throws. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = EXIT_CODES.ok.code
  let call: ClosableCall | undefined
  const finish = (code: number) => {
    exitCode = code
  }
  const words = readJsonFlags(args)
  const program = createProgram({
    context: { terminal, finish },
    commands: commandsMatching(words),
    onCall(created) {
      call = created
    },
  })
  try {
    await program.parseAsync(words, { from: 'user' })
    return exitCode
  } catch (thrown) {
    const error = withDescriptorHint(thrown)
    if (error instanceof CommanderError && isHelpOrVersion(error)) return exitCodeOfHelp(error)
    const context = {
      config: call?.loaded(),
      serverUrl: urlOf(call),
      isVerbose: args.includes('--verbose'),
      command: commandOf(words),
    }
    terminal.stderr.write(reportText(error, context))
    if (wantsJson(words)) writeDocument(terminal, reportOf(error, context))
    return error instanceof CommanderError ? EXIT_CODES.usage.code : exitCodeOf(error)
  } finally {
    call?.close()
  }
}

/**
 * Turns `--json=id,status` into `--json-fields=…`. If the fields were an optional
 * value of `--json`, commander would also take the next word as fields.
 */
function readJsonFlags(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--')
  return args.map((word, at) =>
    word.startsWith('--json=') && (end < 0 || at < end) ? `--json-fields=${word.slice('--json='.length)}` : word,
  )
}

/** The longest path of a command or a group that the words begin with. */
const commandOf = (words: readonly string[]): string | undefined =>
  [...COMMANDS.map(({ path }) => path), ...Object.keys(COMMAND_GROUPS)]
    .filter((path) => path.split(' ').every((word, at) => words[at] === word))
    .toSorted((a, b) => b.length - a.length)[0]

const wantsJson = (words: readonly string[]): boolean =>
  words.some(
    (word, at) =>
      word === '--json' ||
      word.startsWith('--json-fields=') ||
      /^--format=(?:nd)?json$/.test(word) ||
      (word === '--format' && /^(?:nd)?json$/.test(words[at + 1] ?? '')),
  )

function urlOf(call: ClosableCall | undefined): string | undefined {
  try {
    return call?.serverUrl()
  } catch {
    return undefined
  }
}

const isHelpOrVersion = ({ code }: CommanderError): boolean =>
  code === 'commander.helpDisplayed' || code === 'commander.help' || code === 'commander.version'

/** Requested help is a success; help printed because a command is missing is not. */
const exitCodeOfHelp = ({ exitCode }: CommanderError): number =>
  exitCode === 0 ? EXIT_CODES.ok.code : EXIT_CODES.usage.code
