import { hideSecrets } from './hide-secrets.ts'
import { allowClosedPipes, processTerminal } from './process-terminal.ts'
import { runCli } from './run-cli.ts'

/** Runs the command line of this process, then exits with its exit code. */
export async function main(): Promise<void> {
  hideSecrets()
  allowClosedPipes()
  const exitCode = await runCli(process.argv.slice(2), processTerminal())
  await flush(process.stdout)
  // Only the data on stdout is worth waiting for without limit: nothing may be reading stderr.
  await Promise.race([flush(process.stderr), new Promise((resolve) => setTimeout(resolve, STDERR_FLUSH_MS))])
  process.exit(exitCode)
}

const STDERR_FLUSH_MS = 500

const flush = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) resolve()
    else stream.write('', () => resolve())
  })
