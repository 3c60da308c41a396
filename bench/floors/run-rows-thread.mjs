// Commits each group of writes that it receives in one transaction, and answers with their results.
import { parentPort, workerData } from 'node:worker_threads'
import { openRunRows } from './run-rows.mjs'

const { db, ...writes } = openRunRows(workerData.path, workerData.synchronous)
parentPort.on('message', (jobs) => {
  db.exec('BEGIN IMMEDIATE')
  const results = jobs.map(({ name, row }) => writes[name](row))
  db.exec('COMMIT')
  parentPort.postMessage(results)
})
parentPort.postMessage([])
