import { CommanderError } from 'commander'
import { reportOf, reportText } from './error-report.ts'
import { exitCodeOf } from './exit-code-of.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { createProgram } from './program.ts'
import { type Terminal, writeDocument } from './terminal.ts'

/** Runs one command line, without the name of the program, and answers its exit code. Never throws. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = EXIT_CODES.ok.code
  const finish = (code: number) => {
    exitCode = code
  }
  const program = createProgram({ terminal, finish })
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError && isHelpOrVersion(error)) return exitCodeOfHelp(error)
    terminal.stderr.write(reportText(error))
    if (args.includes('--json')) writeDocument(terminal, reportOf(error))
    return error instanceof CommanderError ? EXIT_CODES.usage.code : exitCodeOf(error)
  }
}

const isHelpOrVersion = ({ code }: CommanderError): boolean =>
  code === 'commander.helpDisplayed' || code === 'commander.help' || code === 'commander.version'

/** Help that was asked for is a success; help in place of a missing command is not. */
const exitCodeOfHelp = ({ exitCode }: CommanderError): number =>
  exitCode === 0 ? EXIT_CODES.ok.code : EXIT_CODES.usage.code
