import { spawn } from 'node:child_process'

type Env = Readonly<Record<string, string | undefined>>

/** What opens an address, by `process.platform`. */
const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens the address with the program that `BROWSER` names, else the one of the platform. Tells when there is none. */
export function openBrowser(url: string, env: Env, onFailure: (command: string) => void): void {
  const [command, ...args] = env.BROWSER ? [env.BROWSER] : (OPENERS[process.platform] ?? ['xdg-open'])
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true, env })
  child.once('error', () => onFailure(command))
  child.unref()
}
