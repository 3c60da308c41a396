import { CommanderError } from 'commander'
import type { MadeCall } from './create-call.ts'
import { reportOf, reportText } from './error-report.ts'
import { exitCodeOf } from './exit-code-of.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { commandsMeantBy, createProgram } from './program.ts'
import { type Terminal, writeDocument } from './terminal.ts'

/** Runs one command line, without the name of the program, and answers its exit code. Never throws. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = EXIT_CODES.ok.code
  let call: MadeCall | undefined
  const finish = (code: number) => {
    exitCode = code
  }
  const words = readJsonFlags(args)
  const program = createProgram({
    context: { terminal, finish },
    commands: commandsMeantBy(words),
    onCall(made) {
      call = made
    },
  })
  try {
    await program.parseAsync(words, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError && isHelpOrVersion(error)) return exitCodeOfHelp(error)
    const place = { config: call?.loaded(), serverUrl: urlOf(call), isVerbose: args.includes('--verbose') }
    terminal.stderr.write(reportText(error, place))
    if (wantsJson(words)) writeDocument(terminal, reportOf(error, place))
    return error instanceof CommanderError ? EXIT_CODES.usage.code : exitCodeOf(error)
  } finally {
    call?.close()
  }
}

/** A flag may have a value or none, but must not take the next word for it: `--json=id,status` becomes a flag of its own. */
function readJsonFlags(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--')
  return args.map((word, at) =>
    word.startsWith('--json=') && (end < 0 || at < end) ? `--json-fields=${word.slice('--json='.length)}` : word,
  )
}

const wantsJson = (words: readonly string[]): boolean =>
  words.some(
    (word, at) =>
      word === '--json' ||
      word.startsWith('--json-fields=') ||
      /^--format=(?:nd)?json$/.test(word) ||
      (word === '--format' && /^(?:nd)?json$/.test(words[at + 1] ?? '')),
  )

function urlOf(call: MadeCall | undefined): string | undefined {
  try {
    return call?.serverUrl()
  } catch {
    return undefined
  }
}

const isHelpOrVersion = ({ code }: CommanderError): boolean =>
  code === 'commander.helpDisplayed' || code === 'commander.help' || code === 'commander.version'

/** Help that was asked for is a success; help in place of a missing command is not. */
const exitCodeOfHelp = ({ exitCode }: CommanderError): number =>
  exitCode === 0 ? EXIT_CODES.ok.code : EXIT_CODES.usage.code
