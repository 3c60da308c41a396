import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toolPath } from '../tooling/machine-tools.ts'

/** A bash that keeps its variables, functions and working directory between blocks, like a reader's terminal. */
export interface GuideShell {
  /** Executes a block, waits for it and its background jobs, and returns the output. Rejects when a command fails. */
  run(script: string): Promise<string>
  /** Starts a block in the background and returns its output once it prints its address. */
  serve(script: string): Promise<string>
  /** Sends Ctrl-C to the last server and waits for it to exit. */
  interrupt(): Promise<void>
  /** Kills every process started in this shell. */
  close(): Promise<void>
}

const END = 'guide-runner: ended with'
const WAIT_TIMEOUT_MS = 200_000

/** `scratch` holds the scripts and outputs; `prelude` runs first. */
export function openGuideShell(
  scratch: string,
  { cwd, env, prelude }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly prelude: string },
): GuideShell {
  // A separate session, so that exactly the processes started here can be found and killed.
  const bash = spawn(toolPath('bash'), ['--noprofile', '--norc'], {
    cwd,
    env,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const exited = once(bash, 'exit')
  let count = 0
  let serverOutput: string | undefined

  const write = (script: string) => {
    count += 1
    const path = join(scratch, `block-${count}`)
    writeFileSync(path, `${script}\n`)
    return path
  }
  const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '')
  const failure = (what: string, output: string) => new Error(`${what}\n--- output:\n${output}`)

  const run = async (script: string) => {
    const path = write(script)
    const done = `${path}.done`
    bash.stdin.write(`set -e; source ${path} > ${path}.out 2>&1 < /dev/null; wait; set +e; touch ${done}\n`)
    if (await becomesTrue(() => existsSync(done), bash)) return read(`${path}.out`)
    throw failure(
      bash.exitCode === null ? 'the block does not finish' : 'a command of the block failed',
      read(`${path}.out`),
    )
  }

  const interrupt = async () => {
    const output = serverOutput
    if (output === undefined) return
    serverOutput = undefined
    const group = Number(read(`${output}.pid`))
    if (!(group > 1)) throw failure('the server wrote no process id', read(output))
    if (!isGone(group)) process.kill(-group, 'SIGINT')
    if (await becomesTrue(() => isGone(group), bash)) return
    throw failure('the server did not stop on Ctrl-C', read(output))
  }

  bash.stdin.write(`source ${write(prelude)}\n`)

  return {
    run,
    interrupt,
    async serve(script) {
      await interrupt()
      const path = write(script)
      const output = `${path}.out`
      const job = `( source ${path}; echo "${END} $?" ) > ${output} 2>&1 < /dev/null &`
      bash.stdin.write(`set -m; ${job} echo $! > ${output}.pid; disown; set +m\n`)
      const hasAnnounced = () =>
        /listening on \S+\n|"event":"listening".*\n/.test(read(output)) || read(output).includes(END)
      if ((await becomesTrue(hasAnnounced, bash)) && !read(output).includes(END)) {
        serverOutput = output
        return read(output)
      }
      throw failure('the server did not start', read(output))
    },
    async close() {
      await interrupt().catch(() => undefined)
      // Kills by session, because a hanging block and leftover background jobs belong to the session of the shell.
      await once(spawn(toolPath('pkill'), ['-KILL', '-s', String(bash.pid)], { stdio: 'ignore' }), 'exit')
      await exited
    },
  }
}

const isGone = (processGroup: number): boolean => {
  try {
    process.kill(-processGroup, 0)
    return false
  } catch {
    return true
  }
}

/** Polls a condition; returns false when the shell exits first or the timeout passes. */
async function becomesTrue(condition: () => boolean, shell: ChildProcess): Promise<boolean> {
  const deadline = performance.now() + WAIT_TIMEOUT_MS
  while (performance.now() < deadline) {
    if (condition()) return true
    if (shell.exitCode !== null || shell.signalCode !== null) return condition()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return false
}
