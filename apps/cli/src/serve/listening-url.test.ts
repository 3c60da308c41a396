import { expect, it } from 'vitest'
import { listeningUrl } from './listening-url.ts'

it.each([
  ['127.0.0.1', 'http://127.0.0.1:8080/v1'],
  ['::1', 'http://[::1]:8080/v1'],
])('listeningUrl formats the host %s as %s', (host, url) => {
  expect(listeningUrl({ host, port: 8080, basePath: '/v1' })).toBe(url)
})
