import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { linkPackages } from './guide-packages.ts'
import { BINARY, removeFolder } from './perdure-process.ts'

const CASES = 60
const CONCURRENCY = 4

/** An agent that notes each execution outside of the results, and takes a moment. */
const EVALS = `
import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { defineAgent } from 'perdure'
import { defineEval, scorer } from 'perdure/evals'

const slow = defineAgent({
  id: 'slow',
  async run({ id }: { id: string }) {
    appendFileSync('executed.txt', id + '\\n')
    await pause(20)
    return { id }
  },
})

export default defineEval({
  name: 'slow',
  agent: slow,
  cases: Array.from({ length: ${CASES} }, (_, index) => ({ id: 'c' + index, input: { id: 'c' + index } })),
  scorers: [scorer('own id', ({ result, case: { id } }) => (result as { id: string }).id === id)],
})
`

function project(): string {
  const dir = mkdtempSync(join(tmpdir(), 'perdure-evals-'))
  onTestFinished(() => removeFolder(dir))
  linkPackages(join(dir, 'node_modules'))
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}')
  writeFileSync(join(dir, 'slow.eval.ts'), EVALS)
  return dir
}

const args = (...more: readonly string[]) => [BINARY, 'eval', '--json', '--concurrency', String(CONCURRENCY), ...more]

interface Ran {
  readonly code: number
  readonly report: Readonly<Record<string, unknown>>
}

async function evaluate(cwd: string, ...more: readonly string[]): Promise<Ran> {
  const { code = 0, stdout } = await promisify(execFile)(process.execPath, args(...more), { cwd }).catch(
    (error) => error,
  )
  return { code, report: JSON.parse(stdout) }
}

const linesOf = (path: string): readonly string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []

const trialsIn = (path: string): readonly string[] =>
  linesOf(path).flatMap((line) => {
    const entry = JSON.parse(line)
    return entry.kind === 'trial' ? [entry.case as string] : []
  })

/** Starts the evals, and kills the process once it has stored this many trials. */
async function killAfter(cwd: string, trials: number, ...more: readonly string[]): Promise<void> {
  const running = spawn(process.execPath, args(...more), { cwd, stdio: 'ignore' })
  const part = join(cwd, 'eval-results.ndjson.part')
  while (trialsIn(part).length < trials && running.exitCode === null) await pause(2)
  const exited = once(running, 'exit')
  running.kill('SIGKILL')
  expect(await exited).toEqual([null, 'SIGKILL'])
}

it('loses no trial and repeats none that is stored, over several kills', async () => {
  const cwd = project()
  const part = join(cwd, 'eval-results.ndjson.part')
  await killAfter(cwd, 10)
  const first = trialsIn(part)
  await killAfter(cwd, 35, '--resume')
  const second = trialsIn(part)
  expect(second.slice(0, first.length)).toEqual(first)

  const { code, report } = await evaluate(cwd, '--resume')

  expect([code, report.ok, report.planned, report.reused]).toEqual([0, true, CASES, second.length])
  const ids = Array.from({ length: CASES }, (_, index) => `c${index}`).toSorted()
  expect(trialsIn(join(cwd, 'eval-results.ndjson')).toSorted()).toEqual(ids)
  expect(existsSync(part)).toBe(false)
  const executed = linesOf(join(cwd, 'executed.txt'))
  // Only trials that were cut off, at most one for each place, were made again.
  expect(executed.length - CASES).toBeLessThanOrEqual(2 * CONCURRENCY)
  const afterFirst = executed.slice(first.length + CONCURRENCY)
  expect(first.filter((id) => afterFirst.includes(id))).toEqual([])
})

it('does not begin beside the results of a run that was cut off, unless it is told what to do', async () => {
  const cwd = project()
  await killAfter(cwd, 5)
  const stored = trialsIn(join(cwd, 'eval-results.ndjson.part')).length

  const refused = await evaluate(cwd)
  expect([refused.code, refused.report.error]).toEqual([6, 'eval-unfinished'])
  expect(trialsIn(join(cwd, 'eval-results.ndjson.part'))).toHaveLength(stored)

  const restarted = await evaluate(cwd, '--restart')
  expect([restarted.code, restarted.report.reused]).toEqual([0, 0])
})

it('makes the trials again that other code had made', async () => {
  const cwd = project()
  await evaluate(cwd, '--max-runs', '7')
  writeFileSync(join(cwd, 'slow.eval.ts'), EVALS.replace('pause(20)', 'pause(1)'))

  const { code, report } = await evaluate(cwd, '--resume')

  expect([code, report.reused, report.outdated, report.made]).toEqual([0, 0, 7, CASES])
  expect(trialsIn(join(cwd, 'eval-results.ndjson'))).toHaveLength(CASES)
})

it('names the process that writes the results, and leaves its journal alone', async () => {
  const cwd = project()
  const running = spawn(process.execPath, args(), { cwd, stdio: 'ignore' })
  const exited = once(running, 'exit')
  const part = join(cwd, 'eval-results.ndjson.part')
  while (trialsIn(part).length === 0 && running.exitCode === null) await pause(2)
  running.kill('SIGSTOP')

  const second = await evaluate(cwd, '--restart')
  running.kill('SIGCONT')

  expect(second).toMatchObject({ code: 6, report: { error: 'eval-running' } })
  expect(second.report.message).toContain(`the process ${running.pid} runs evals`)
  expect(await exited).toEqual([0, null])
  expect(trialsIn(join(cwd, 'eval-results.ndjson'))).toHaveLength(CASES)
  expect(existsSync(join(cwd, 'eval-results.ndjson.lock'))).toBe(false)
})

it('stops at its budget with exit code 3, and continues from there', async () => {
  const cwd = project()
  const stopped = await evaluate(cwd, '--max-runs', '7')
  expect([stopped.code, stopped.report.stoppedBy, stopped.report.made]).toEqual([3, 'runs', 7])
  const resumed = await evaluate(cwd, '--resume')
  expect([resumed.code, resumed.report.reused, resumed.report.made]).toEqual([0, 7, CASES - 7])
})

it('compares with the results of a git revision', async () => {
  const cwd = project()
  const git = (...given: readonly string[]) =>
    promisify(execFile)('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...given], { cwd })
  await evaluate(cwd)
  await git('init', '-q')
  await git('add', 'eval-results.ndjson')
  await git('commit', '-q', '-m', 'results')
  const broken = EVALS.replace('return { id }', "return { id: 'x' }")
  writeFileSync(join(cwd, 'slow.eval.ts'), broken)

  const { code, report } = await evaluate(cwd, '--against', 'HEAD')
  expect([code, report.compared]).toMatchObject([5, [{ name: 'slow', verdict: 'worse', test: 'z' }]])
  const unknown = await evaluate(cwd, '--against', 'no-such')
  expect([unknown.code, unknown.report.error]).toEqual([2, 'usage'])
})
