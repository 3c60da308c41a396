import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { toolPath } from '../../tooling/machine-tools.ts'
import { needsTool } from '../../tooling/needed-tool.ts'

const INSIDE = join(import.meta.dirname, 'egress.ts')

needsTool('unshare', 'ip', 'strace').it(
  'connects to no other machine, in a network namespace without routes',
  async () => {
    const { stdout } = await promisify(execFile)(toolPath('unshare'), ['--net', process.execPath, INSIDE])
    const { foreign, violations, requests, reads, caught } = JSON.parse(stdout)

    expect(foreign).toEqual([])
    expect(violations).toEqual([])
    expect(requests).toBeGreaterThan(50)
    expect(reads).toBeGreaterThan(15)
    expect(caught).toHaveLength(1)
  },
)
