import { hideSecrets } from './hide-secrets.ts'
import { allowClosedPipes, processTerminal } from './process-terminal.ts'
import { runCli } from './run-cli.ts'

/** Runs the command line of this process, then exits with its exit code. */
export async function main(): Promise<void> {
  hideSecrets()
  allowClosedPipes()
  const exitCode = await runCli(process.argv.slice(2), processTerminal())
  await Promise.all([flush(process.stdout), flush(process.stderr)])
  process.exit(exitCode)
}

const flush = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) resolve()
    else stream.write('', () => resolve())
  })
