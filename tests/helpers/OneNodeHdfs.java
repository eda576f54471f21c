import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** One name node and one data node of HDFS on the loopback interface, until standard input ends. */
public class OneNodeHdfs {
    public static void main(String[] arguments) throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, new File(arguments[0]).getAbsolutePath());
        configuration.setBoolean("dfs.permissions.enabled", false);
        try (MiniDFSCluster cluster = new MiniDFSCluster.Builder(configuration).numDataNodes(1).build()) {
            cluster.waitActive();
            System.out.println("Serving hdfs://127.0.0.1:" + cluster.getNameNodePort());
            System.out.flush();
            while (System.in.read() >= 0) {}
        }
    }
}
