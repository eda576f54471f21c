// A push consumer by rocketmq-client-nodejs, as a program that `client?protocol=grpc:COMMAND` judges.
const readline = require('node:readline');
const { ConsumeResult, PushConsumer } = require('rocketmq-client-nodejs');

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
let does = 'succeeds';

async function main() {
  const { ROCKETMQ_ENDPOINTS, ROCKETMQ_GROUP, ROCKETMQ_TOPIC, ROCKETMQ_KIND } = process.env;
  if (ROCKETMQ_KIND !== 'push') {
    say({ unsupported: 'it is a push consumer' });
    return;
  }
  say({ takes: ['listen'] });
  const lines = readline.createInterface({ input: process.stdin });
  lines.on('line', (line) => { does = JSON.parse(line).listen ?? does; });
  lines.on('close', () => process.exit(0)); // who gives commands is gone
  const consumer = new PushConsumer({
    namespace: '',
    endpoints: ROCKETMQ_ENDPOINTS,
    consumerGroup: ROCKETMQ_GROUP,
    subscriptions: new Map([[ROCKETMQ_TOPIC, '*']]),
    messageListener: {
      consume: async () => (does === 'succeeds' ? ConsumeResult.SUCCESS : ConsumeResult.FAILURE),
    },
  });
  process.once('SIGTERM', async () => {
    await consumer.shutdown();
    process.exit(0);
  });
  await consumer.startup();
}

main();
