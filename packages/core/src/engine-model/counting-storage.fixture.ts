import type { Storage } from '@perdure/ports'

/** A storage that tells whether calls are under way, for tests that must wait until nothing happens any more. */
export function createCountingStorage(storage: Storage): { readonly storage: Storage; isBusy(): boolean } {
  let underWay = 0

  const counting = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return (...args: unknown[]) => {
          const result: unknown = Reflect.apply(method, target, args)
          if (!(result instanceof Promise)) return result
          underWay++
          const end = () => {
            underWay--
          }
          result.then(end, end)
          return result
        }
      },
    })

  const ports = Object.entries(storage).map(([name, port]) => [
    name,
    typeof port === 'object' && port !== null ? counting(port) : port,
  ])
  return { storage: Object.fromEntries(ports), isBusy: () => underWay > 0 }
}
