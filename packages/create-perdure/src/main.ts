import { createProject } from './create-project.ts'
import { createPrompt } from './prompt.ts'

/** Runs the command of this process. */
export async function main(): Promise<void> {
  const { stdin, stdout, stderr } = process
  const isInteractive = stdin.isTTY === true && stdout.isTTY === true
  const prompt = isInteractive ? createPrompt(stdin, stdout) : undefined
  const outcome = await createProject(process.argv.slice(2), { cwd: process.cwd(), ask: prompt?.ask })
  prompt?.close()
  stdout.write(outcome.out)
  stderr.write(outcome.err)
  process.exitCode = outcome.exitCode
}
