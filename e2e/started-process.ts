import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface StartedProcess {
  /** The awaited output. */
  readonly match: RegExpExecArray
  output(): string
  /** Signals the process, and after its exit kills whatever is left of its group. */
  stop(signal?: NodeJS.Signals): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

export interface Command {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** Starts a command in its own process group. Rejects with its output when it exits before the output matches. */
export async function startProcess({ command, args, cwd, env }: Command, until: RegExp): Promise<StartedProcess> {
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  let output = ''
  const match = await new Promise<RegExpExecArray>((resolve, reject) => {
    const take = (chunk: Buffer): void => {
      output += chunk
      const found = until.exec(output)
      if (found !== null) resolve(found)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    exited.then(([code]) => reject(new Error(`${command} exited with ${code}:\n${output}`)), reject)
  })
  return {
    match,
    output: () => output,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      const [code, by] = await exited
      signalGroup(child.pid as number, signal)
      return { code, signal: by }
    },
  }
}

/** The group no longer exists when the process left nothing behind. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
