import { describe, expect, it } from 'vitest'
import { findMountedPath } from './mounted-path.ts'

const ROUTES = new Set(['/runs', '/agents/v1/runs', '/agents'])
const find = (path: string, basePath = '/v1') =>
  findMountedPath(path, {
    basePath,
    hasRoute: (one) => one.startsWith(basePath) && ROUTES.has(one.slice(basePath.length)),
  })

describe('findMountedPath', () => {
  it.each([
    ['/v1/runs', '/v1', { mountPath: '', path: '/v1/runs' }],
    ['/ai/v1/runs', '/v1', { mountPath: '/ai', path: '/v1/runs' }],
    ['/a/b/v1/runs', '/v1', { mountPath: '/a/b', path: '/v1/runs' }],
    ['/v1/v1/runs', '/v1', { mountPath: '/v1', path: '/v1/runs' }],
    ['/ai/v1/runs', '/ai/v1', { mountPath: '', path: '/ai/v1/runs' }],
    ['/x/ai/v1/runs', '/ai/v1', { mountPath: '/x', path: '/ai/v1/runs' }],
  ])('splits %s at the base path %s', (path, basePath, found) => {
    expect(find(path, basePath)).toEqual(found)
  })

  it.each([
    ['/v1/runs', '/ai/v1'],
    ['/b/v1/runs', '/ai/b/v1'],
  ])('completes %s if the framework has removed the beginning of %s', (path, basePath) => {
    expect(find(path, basePath)).toEqual({ mountPath: '', path: `${basePath}/runs` })
  })

  it('does not take a parameter for the base path', () => {
    expect(find('/v1/agents/v1/runs')).toEqual({ mountPath: '', path: '/v1/agents/v1/runs' })
    expect(find('/ai/v1/agents/v1/runs')).toEqual({ mountPath: '/ai', path: '/v1/agents/v1/runs' })
  })

  it.each(['//evil.example/v1/runs', '/\\evil.example/v1/runs', '/ai//v1/runs', '/a b/v1/runs', '/ä/v1/runs'])(
    'finds no mount path in %s, which could name another host in a location',
    (path) => {
      expect(find(path)).toEqual({ mountPath: '', path })
    },
  )

  it('reads a path of many base paths from its end', () => {
    const repeated = '/v1'.repeat(5_000)

    expect(find(`${repeated}/v1/runs`)).toEqual({ mountPath: repeated, path: '/v1/runs' })
  })

  it.each(['/', '/v1', '/runs', '/ai/v1x/runs', '/ai/v1/other'])('leaves %s, which has no route, as it is', (path) => {
    expect(find(path)).toEqual({ mountPath: '', path })
  })
})
