import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A bash that keeps its variables, functions and folder from block to block, as the terminal of a reader does. */
export interface GuideShell {
  /** Executes a block to its end, background jobs included; what it wrote. Rejects when a command of it fails. */
  run(script: string): Promise<string>
  /** Leaves a block running once it says where it listens; what it has written until then. */
  serve(script: string): Promise<string>
  /** Presses Ctrl-C where the last server runs and waits for its end. */
  interrupt(): Promise<void>
  /** Ends everything that was started here. */
  close(): Promise<void>
}

const END = 'guide-runner: ended with'
const PATIENCE_MS = 200_000

/** `scratch` takes the scripts and outputs; `prelude` is executed before anything else. */
export function openGuideShell(
  scratch: string,
  { cwd, env, prelude }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly prelude: string },
): GuideShell {
  // A session of its own: what runs in it can be found and ended without touching anybody else's processes.
  const bash = spawn('bash', ['--noprofile', '--norc'], {
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
  const failure = (what: string, output: string) => new Error(`${what}\n--- it wrote:\n${output}`)

  const run = async (script: string) => {
    const path = write(script)
    const done = `${path}.done`
    bash.stdin.write(`set -e; source ${path} > ${path}.out 2>&1 < /dev/null; wait; set +e; touch ${done}\n`)
    if (await appears(() => existsSync(done), bash)) return read(`${path}.out`)
    throw failure(
      bash.exitCode === null ? 'the block does not end' : 'a command of the block fails',
      read(`${path}.out`),
    )
  }

  const interrupt = async () => {
    const output = serverOutput
    if (output === undefined) return
    serverOutput = undefined
    const group = Number(read(`${output}.pid`))
    if (!(group > 1)) throw failure('the server has left no process id', read(output))
    if (!isGone(group)) process.kill(-group, 'SIGINT')
    if (await appears(() => isGone(group), bash)) return
    throw failure('the server does not stop on Ctrl-C', read(output))
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
      const isSaid = () => /listening on \S+\n|"event":"listening".*\n/.test(read(output)) || read(output).includes(END)
      if ((await appears(isSaid, bash)) && !read(output).includes(END)) {
        serverOutput = output
        return read(output)
      }
      throw failure('the server does not start', read(output))
    },
    async close() {
      await interrupt().catch(() => undefined)
      // A block that does not end, and jobs that a block has left behind, are all in the session of the shell.
      await once(spawn('pkill', ['-KILL', '-s', String(bash.pid)], { stdio: 'ignore' }), 'exit')
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

/** Looks until it is so; false when the shell ends before, or it takes too long. */
async function appears(isThere: () => boolean, shell: ChildProcess): Promise<boolean> {
  const deadline = performance.now() + PATIENCE_MS
  while (performance.now() < deadline) {
    if (isThere()) return true
    if (shell.exitCode !== null || shell.signalCode !== null) return isThere()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return false
}
